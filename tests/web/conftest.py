from workbench import bench, browsers, postgres  # noqa: F401
