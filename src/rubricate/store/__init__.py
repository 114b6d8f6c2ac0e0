"""Data of the workbench: people, notes, judgements, decisions and an append-only record.

Every function takes a connection, who asks or acts, and values; it returns plain values (`answers`)
or raises one of `refusals`. What is written is also appended to the project's `chain`, which
`chain.verify` replays.

- `tables`: all tables; `database`: connections, one writer, migrations, copies; `transaction`: what
  the writes of one commit share, and which rows PostgreSQL shows to whom
- `people`: accounts, sessions, links, tokens, roles
- `projects`: notes, who annotates what; `rubrics`: versions; `comparing`: a rubric that comes again
- `annotating`, `curating`, `reviewing`: what each role reads and writes
- `exporting`: progress, agreement, the record, studies; `downloading`: what managers take out
"""
