// Drawn by the browser part.
