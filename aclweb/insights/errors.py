"""What is raised where logs cannot be read, or a result cannot be used?"""


class InsightsError(Exception):
    """A result that cannot be loaded, or a job that could not run; the message is a sentence."""
