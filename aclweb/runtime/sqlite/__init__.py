"""Django's SQLite, as a site of several processes needs it; `base` is where Django looks for it."""
