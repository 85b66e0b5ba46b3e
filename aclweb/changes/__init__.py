"""What would an edit do, who wants it, who agreed, and was it written?"""
