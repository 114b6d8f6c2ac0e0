"""``rubricate completion``: the script with which a shell completes commands and options."""

from __future__ import annotations

import click

from rubricate.cli.command import verb
from rubricate.cli.options import Choice
from rubricate.cli.output import Answer, answering, in_words

SHELLS = ("bash", "zsh", "fish")


@verb("completion", epilog='Example: eval "$(rubricate completion bash)"')
@click.argument("shell", type=Choice(SHELLS))
@answering
def completion_command(shell: str) -> Answer:
    """Print the script with which SHELL (bash, zsh or fish) completes rubricate's commands.

    Put the line of the example into ~/.bashrc (for zsh: ~/.zshrc). For fish, write the script to
    ~/.config/fish/completions/rubricate.fish.
    """
    from click.shell_completion import get_completion_class

    from rubricate.cli import main

    made = get_completion_class(shell)
    assert made is not None
    script = made(main, {}, "rubricate", "_RUBRICATE_COMPLETE").source()
    return in_words({"shell": shell, "script": script}, script)
