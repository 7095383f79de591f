"""What a new statement means for what is stored."""
