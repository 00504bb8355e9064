"""What contact, flexible and elastic bodies share: mesh files."""
