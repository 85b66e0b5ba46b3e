"""What is there, who can do what with it, and what is wrong with it? Lists, resources, principals, findings, logs."""
