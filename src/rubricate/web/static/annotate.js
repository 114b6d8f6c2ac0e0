const api = async (method, path, body) => {
  const options = { method, headers: { "Content-Type": "application/json" }, body: body && JSON.stringify(body) };
  const response = await fetch(`/api/v1${path}`, options);
  return response.json();
};
const app = document.getElementById("app");
const draw = async () => {
  const { assignment } = await api("GET", `/projects/${document.body.dataset.project}/next`);
  app.replaceChildren();
  if (!assignment) { app.textContent = "All done."; return; }
  const work = await api("GET", `/work/${assignment}`);
  const note = document.createElement("pre");
  note.textContent = work.note.text;
  app.append(note);
  for (const feature of work.rubric.features) {
    const line = document.createElement("p");
    const own = work.judgements[feature.id] ?? { answer: null, version: 0 };
    line.textContent = `${feature.text}: ${own.answer ?? "–"} `;
    for (const answer of ["present", "absent", "unsure"]) {
      const button = document.createElement("button");
      button.textContent = answer;
      button.onclick = async () => {
        const { anchorOffset, focusOffset } = getSelection();
        const [from, to] = [anchorOffset, focusOffset].sort((a, b) => a - b);
        const point = (at) => [...work.note.text.slice(0, at)].length;
        const marks = answer === "present" ? [[[point(from), point(to)]]] : [];
        const body = { answer, marks, version: own.version, sha256: work.note.sha256 };
        await api("PUT", `/work/${assignment}/features/${encodeURIComponent(feature.id)}`, body);
        draw();
      };
      line.append(button);
    }
    app.append(line);
  }
};
draw();
