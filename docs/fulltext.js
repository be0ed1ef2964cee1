// The page "Search": the sections of all pages that have every word that is typed, best first. `texts` is made by scripts/site.py:
// [title of the page, heading, address, words] for each section.
const field = document.getElementById("words"), count = document.getElementById("count"), found = document.getElementById("found");
const most = 50, around = 90;

// A word in a heading weighs most, then in a title; each further occurrence in the text adds a little.
function weight(section, word) {
  const [title, heading, , text] = section.map(s => s.toLowerCase());
  const times = text.split(word).length - 1;
  if (!times && !title.includes(word) && !heading.includes(word)) return 0;
  return (heading.includes(word) ? 20 : 0) + (title.includes(word) ? 10 : 0) + Math.min(times, 9);
}

function excerpt(text, words) {
  const lower = text.toLowerCase(), places = words.map(w => lower.indexOf(w)).filter(at => at >= 0);
  const from = Math.max(0, Math.min(...places, text.length) - around);
  const p = document.createElement("p");
  let rest = (from > 0 ? "… " : "") + text.slice(from, from + 4 * around);
  while (rest) {
    const at = Math.min(...words.map(w => rest.toLowerCase().indexOf(w)).filter(n => n >= 0), rest.length);
    p.append(rest.slice(0, at));
    const word = words.find(w => rest.toLowerCase().startsWith(w, at));
    if (!word) break;
    const mark = document.createElement("mark");
    mark.textContent = rest.slice(at, at + word.length);
    p.append(mark);
    rest = rest.slice(at + word.length);
  }
  return p;
}

function search() {
  const words = field.value.toLowerCase().split(/\s+/).filter(w => w);
  const hits = words.length ? texts.map(s => [words.map(w => weight(s, w)), s]).filter(([w]) => w.every(n => n > 0)) : [];
  hits.sort((a, b) => b[0].reduce((x, y) => x + y) - a[0].reduce((x, y) => x + y));
  count.textContent = words.length ? `${hits.length} section${hits.length === 1 ? "" : "s"}` : "";
  found.replaceChildren(...hits.slice(0, most).flatMap(([, [title, heading, address, text]]) => {
    const h = document.createElement("h3"), a = document.createElement("a");
    a.href = address;
    a.textContent = heading ? `${title}: ${heading}` : title;
    h.append(a);
    return [h, excerpt(text, words)];
  }));
}

field.value = decodeURIComponent(location.hash.slice(1));
field.addEventListener("input", search);
search();
