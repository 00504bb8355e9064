"""Help texts: no description is cut off, paragraphs flow, and options stand in groups, with colours and without."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

WHOLE = 10**6
"""More letters than a description has."""


def flowing(text: str | None) -> str | None:
    """Paragraphs without the line breaks of the source, but for those that keep theirs, marked by a backspace."""
    if text is None:
        return None
    parts = text.split("\n\n")
    return "\n\n".join(part if part.lstrip().startswith("\b") else " ".join(part.split()) for part in parts)


class Command(TyperCommand):
    """A command; options with a `rich_help_panel` stand under that heading."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.help = flowing(self.help)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments, options by their groups, and those without one."""
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                plain = "Arguments" if parameter.param_type_name == "argument" else "Options"
                groups.setdefault(getattr(parameter, "rich_help_panel", None) or plain, []).append(record)
        for heading, records in groups.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


class Group(TyperGroup):
    """A group of commands; each is described by its whole first sentence."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.help = flowing(self.help)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The commands, their descriptions over as many lines as they take."""
        known = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, c.get_short_help_str(WHOLE)) for name, c in known if c is not None and not c.hidden]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)
