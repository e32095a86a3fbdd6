"""Stand-ins for processes of mlcommons/endpoints; importing this needs nothing but Python."""
