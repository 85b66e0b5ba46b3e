"""What is in force on each cluster now, and what was?"""
