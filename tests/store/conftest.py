from workbench import database, database_url, postgres, small  # noqa: F401
