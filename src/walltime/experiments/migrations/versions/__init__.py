"""One file a migration; `schema.REVISION` names the last."""
