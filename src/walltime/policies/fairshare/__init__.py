"""Fair share: who has had how much of what is due to them. Used by the orders `fairshare` and `multifactor`."""
