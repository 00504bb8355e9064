"""What a contact says about shapes that are computed, though not exactly as they were given."""


class ContactNote(UserWarning):
    """A contact that is computed, though not with a shape exactly as it was given."""


__all__ = ["ContactNote"]
