"""The workbench in a browser: annotate, curate and review together.

A request passes four places. `policy` is the table of all that can be asked: method, path, who may,
handler. `app` finds out who asks, compares that with the table, and turns results and refusals into
answers. A handler takes a `calls.Call` and is thin over one function of `rubricate.store`, which
does the work on a connection and knows no HTTP.

Handlers stand with the bodies that they take:

- `account`: signing in, links, tokens, one's own page, users; `oidc`: sign-in through a provider
- `work`: what annotators, curators and reviewers do, and runs under review
- `manage`: what managers do, and what dashboards show
- `pages`: pages of a project, and their forms; `uploads` reads the files, `jobs` are long work
- `compat`: rubricate in INCEpTION and Label Studio

A form that does what a route of the interface does has no handler of its own: `rendering.by_form`
makes one of the route's handler and of a function that makes its body of the form's fields.
`rendering` draws the templates, and `serving` starts the server.
"""
