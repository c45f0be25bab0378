"""What a submitter's folder holds, and the first manifest for it."""
