"""What does an ACL mean? The shared matcher: plain values and functions, standard library only."""
