"""What do all processes of one installation share: its keys, its directory, its queue, its Java?"""
