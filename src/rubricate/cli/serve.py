"""``rubricate serve``: the workbench in a browser."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path

import click
from click.core import ParameterSource

from rubricate.cli.command import Output, There, VerbSubgroup
from rubricate.cli.output import Answer, answering, in_words, json_option, print_json
from rubricate.errors import ArgumentError, MissingExtraError
from rubricate.files import missing_path

EPILOG = """
Example: rubricate serve --demo
"""
FOLDER = click.Path(path_type=Path, file_okay=False)
FILE = There(dir_okay=False)
database_option = click.option(
    "--database", default="", metavar="URL", envvar="RUBRICATE_DATABASE",
    help="Database, postgresql://USER@HOST/NAME. Default: SQLite inside FOLDER.",
)  # fmt: skip


class ServeGroup(VerbSubgroup):
    """A group that runs the command start if the first word is not a command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the command start in front, if no command is named."""
        if not args or args[0] not in {*self.commands, "-h", "--help"}:
            args = ["start", *args]
        return super().parse_args(ctx, args)


@click.group("serve", cls=ServeGroup, epilog=EPILOG)
def serve_command() -> None:
    """Annotate, curate and review in a browser: rubricate serve [FOLDER].

    For all options, run: rubricate serve start --help
    """


@serve_command.command("start", epilog=EPILOG)
@click.argument("folder", metavar="[FOLDER]", type=FOLDER, required=False)
@click.option("--new", is_flag=True, help="Create FOLDER if it does not exist.")
@click.option(
    "--demo", is_flag=True, help="Start with a sample project, which is deleted at the end."
)
@database_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8421, show_default=True,
              help="Port to listen on (0 = any free port).")  # fmt: skip
@click.option("--certificate", type=FILE, help="TLS certificate (PEM).")
@click.option("--key", type=FILE, help="Key of the TLS certificate (PEM).")
@click.option("--behind-proxy", is_flag=True, help="A proxy in front of the server handles TLS.")
@click.option("--oidc", default="", metavar="ISSUER", help="OpenID Connect provider for sign-in. "
              "Set its secret in RUBRICATE_OIDC_SECRET.")  # fmt: skip
@click.option(
    "--oidc-client",
    default="",
    metavar="ID",
    help="Client id of this server at the OpenID Connect provider.",
)
@click.option("--others-may-read", is_flag=True,
              help="Start although other users of this machine can read the database.")  # fmt: skip
@json_option
def start_command(
    folder: Path | None,
    new: bool,
    demo: bool,
    database: str,
    host: str,
    port: int,
    certificate: Path | None,
    key: Path | None,
    behind_proxy: bool,
    oidc: str,
    oidc_client: str,
    others_may_read: bool,
    as_json: bool,
) -> None:
    """Start the workbench of FOLDER (default: the current folder).

    The database is in FOLDER/workbench. The first start prints a link that works once. It creates
    the administrator's account.
    """
    place = _place(folder, new, demo)
    database = "" if demo else database
    try:
        from rubricate.web import serving
        from rubricate.web.oidc import Provider
        from rubricate.web.serving import Address, listen, make_demo, open_bench, serve, setup_link
    except ImportError as error:
        raise MissingExtraError("The workbench", "web") from error

    address = Address(host, port, certificate, key, behind_proxy)
    secret = os.environ.get("RUBRICATE_OIDC_SECRET", "")
    provider = Provider(oidc, oidc_client, secret) if oidc or oidc_client else None
    with ExitStack() as stack:
        if demo:
            place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rubricate-")))
        begun = not (demo or database or serving.has_workbench(place))
        bench = stack.enter_context(
            open_bench(place, database, address, provider, others_may_read=others_may_read)
        )
        taken = stack.enter_context(listen(address))
        name = f"[{host}]" if ":" in host else host
        url = f"http{'s' if certificate else ''}://{name}:{taken.getsockname()[1]}"
        first = None if demo else setup_link(bench)
        links = make_demo(bench) if demo else {"setup": first} if first else {}

        def ready() -> None:
            whole = {role: url + path for role, path in links.items()}
            if as_json:
                print_json({"url": url, "links": whole, "new": begun}, indent=None)
            else:
                if begun:
                    click.echo(f"Created a new workbench in {place.absolute()}.")
                click.echo(f"The workbench runs at {url}. Press Ctrl-C to stop it.")
                for role, link in whole.items():
                    click.echo(f"  {role:<10} {link}")
            sys.stdout.flush()

        # The server passes on what ended it: folders are given back, and a demonstration removed.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        with suppress(KeyboardInterrupt):
            serve(bench, address, taken, ready)


def _place(folder: Path | None, new: bool, demo: bool) -> Path:
    """Return the folder; ArgumentError if it is not there, or a demonstration is to keep it."""
    place = folder or Path()
    if not (demo or new or place.is_dir()):
        raise ArgumentError(f"{missing_path(place)} To begin a workbench there, add --new")
    context = click.get_current_context()
    given = context.get_parameter_source("database") is ParameterSource.COMMANDLINE
    kept = "FOLDER" if folder else "--new" if new else "--database" if given else ""
    if demo and kept:
        raise ArgumentError(
            f"--demo and {kept} cannot be used together, because the sample project is deleted at "
            "the "
            "end."
        )
    return place


@serve_command.command("verify", epilog="Example: rubricate serve verify asthma")
@click.argument("folder", metavar="FOLDER", type=FOLDER)
@database_option
@answering
def verify_command(folder: Path, database: str) -> Answer:
    """Check that the audit log of FOLDER's workbench was not changed."""
    from rubricate.web.serving import verify_folder

    found = verify_folder(folder, database)

    def say() -> None:
        if not found:
            click.echo("There is no project yet.")
        for one in found:
            state = "intact" if not one.faults else f"{len(one.faults)} faults"
            click.echo(f"{one.name}: {one.events:,} events, {state}, head {one.head}")
            for fault in one.faults[:20]:
                click.echo(f"  {fault}")

    return Answer([one._asdict() for one in found], say, any(one.faults for one in found))


@serve_command.command("backup", epilog="Example: rubricate serve backup asthma copy.sqlite")
@click.argument("folder", metavar="FOLDER", type=FOLDER)
@click.argument("target", metavar="TARGET", type=Output())
@database_option
@answering
def backup_command(folder: Path, target: Path, database: str) -> Answer:
    """Copy the database of FOLDER's workbench to TARGET while the server runs."""
    from rubricate.web.serving import backup_folder

    backup_folder(folder, target, database)
    return in_words({"written": str(target)}, f"wrote {target}")
