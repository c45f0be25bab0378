// The comparison page: parameter sets beside each other, with factors against a baseline. Figures come with their texts
// from downloads/<system>/sets.json, so that number formats have one place; only factors are formatted here.
// The address holds the choice: ?set=<system>/<candidate>/<label>&set=…&base=<number>.

const MOST = 8;
const root = new URL("../performance/", import.meta.url);
const form = document.querySelector("form.choose");
const box = document.querySelector(".table-box:has(.compare)");
const table = box.querySelector("table");
const told = form.querySelector("output");
const systems = [...form.elements.system.options].map((option) => option.value);
const documents = new Map();

let chosen = []; // { system, candidate, label }
let base = 0;

const FAMILIES = { sign: "Digital signatures", kem: "Key encapsulation", kex: "Key exchange", hash: "Hash functions" };
const FIGURES = {
  count: (set) => set.document.count,
  seconds: () => "time",
  peak_rss_bytes: () => "peak RSS",
  hash_share: () => "share of hash functions",
};

function load(system) {
  if (!documents.has(system)) {
    const asked = fetch(new URL(`downloads/${encodeURIComponent(system)}/sets.json`, root)).then((answer) => {
      if (!answer.ok) throw new Error(`${system}: ${answer.status}`);
      return answer.json();
    });
    documents.set(system, asked);
  }
  return documents.get(system);
}

async function find({ system, candidate, label }) {
  if (!systems.includes(system)) return null;
  const found = await load(system);
  const set = found.sets.find((each) => each.candidate === candidate && each.label === label);
  return set ? { ...set, system, document: found } : null;
}

const element = (name, text = "", attributes = {}) => {
  const made = Object.assign(document.createElement(name), attributes);
  if (text) made.textContent = text;
  return made;
};

// ---- The form: family and set follow the system.

async function offerSets() {
  const { family, set } = form.elements;
  const found = await load(form.elements.system.value);
  const present = Object.keys(FAMILIES).filter((name) => found.sets.some((each) => each.family === name));
  const wanted = present.includes(family.value) ? family.value : present[0];
  family.replaceChildren(...present.map((name) => element("option", FAMILIES[name], { value: name })));
  family.value = wanted ?? "";
  const groups = Map.groupBy(found.sets.filter((each) => each.family === wanted), (each) => each.name);
  set.replaceChildren(
    ...[...groups].map(([name, sets]) => {
      const group = element("optgroup", "", { label: name });
      group.append(...sets.map((each) => element("option", each.label, { value: `${each.candidate}/${each.label}` })));
      return group;
    }),
  );
}

function add(system, path) {
  const [candidate, label] = path.split("/");
  if (chosen.some((each) => each.system === system && each.candidate === candidate && each.label === label)) return;
  if (chosen.length < MOST) chosen.push({ system, candidate, label });
}

async function addHere(event) {
  event.preventDefault();
  if (form.elements.set.value) add(form.elements.system.value, form.elements.set.value);
  await show();
}

async function addEverywhere() {
  const [candidate, label] = form.elements.set.value.split("/");
  for (const system of systems) {
    if (await find({ system, candidate, label })) add(system, `${candidate}/${label}`);
  }
  await show();
}

// ---- The table: a column for each set, a row for each figure.

const RATIO = new Intl.NumberFormat("en", { minimumSignificantDigits: 3, maximumSignificantDigits: 3, useGrouping: false });

function factor(value, of) {
  return typeof value === "number" && typeof of === "number" && of > 0 ? `${RATIO.format(value / of)}×` : "";
}

function rowsOf(sets) {
  const rows = [
    ["system", (set) => [null, set.system]],
    ["machine", (set) => [null, set.document.machine]],
    ["strength (bits)", (set) => [null, set.strength_bits ?? "–"]],
    ["implementation", (set) => [null, set.implementation]],
    ["KAT", (set) => [null, set.kat]],
  ];
  const operations = new Set(sets.flatMap((set) => Object.keys(set.operations)));
  for (const operation of operations) {
    for (const [figure, title] of Object.entries(FIGURES)) {
      if (!sets.some((set) => set.operations[operation]?.[figure])) continue;
      const kinds = new Set(sets.map(title).filter(Boolean));
      const name = `${operation}: ${[...kinds].join(" or ")}`;
      rows.push([name, (set) => {
        const found = set.operations[operation];
        return found?.failed ? [null, "failed"] : found?.[figure] ?? [null, "–"];
      }, figure === "count" ? title : () => figure, figure !== "hash_share"]);
    }
  }
  for (const size of new Set(sets.flatMap((set) => Object.keys(set.sizes)))) {
    const title = `${size.replace("_bytes", "").replaceAll("_", " ")} (bytes)`;
    rows.push([title, (set) => [set.sizes[size], set.sizes[size] ?? "–"], () => size, true]);
  }
  rows.push(["static: ELF image (bytes)", (set) => [set.elf_load_bytes, set.elf_load_bytes ?? "–"], () => "elf", true]);
  return rows;
}

function headOf(sets) {
  const row = element("tr");
  row.append(element("th", "figure", { scope: "col" }));
  sets.forEach((set, index) => {
    const cell = element("th", "", { scope: "col", className: "n" });
    const link = element("a", set.name, { href: new URL(`${set.system}/${set.candidate}/`, root).href });
    const choose = element("label");
    const radio = element("input", "", { type: "radio", name: "base", value: index, checked: index === base });
    radio.addEventListener("change", () => { base = index; show(`base-${index}`); });
    radio.dataset.key = `base-${index}`;
    choose.append(radio, ` baseline`);
    const drop = element("button", "Remove", { type: "button", className: "drop" });
    drop.setAttribute("aria-label", `Remove ${set.label} on ${set.system}`);
    drop.addEventListener("click", () => remove(index));
    radio.setAttribute("aria-label", `Take ${set.label} on ${set.system} as baseline`);
    cell.append(link, element("br"), element("code", set.label), element("br"), choose, element("br"), drop);
    row.append(cell);
  });
  return row;
}

function bodyRow([title, figure, kind, hasFactor], sets) {
  const row = element("tr");
  row.append(element("th", title, { scope: "row" }));
  const reference = sets[base];
  for (const set of sets) {
    const [value, text] = figure(set);
    const cell = element("td", "", { className: "n" });
    cell.append(String(text));
    const comparable = hasFactor && set !== reference && kind(set) === kind(reference);
    const ratio = comparable ? factor(value, figure(reference)[0]) : "";
    if (ratio) cell.append(element("span", ` ${ratio}`, { className: "ratio" }));
    row.append(cell);
  }
  return row;
}

function notesRow(sets) {
  const row = element("tr");
  row.append(element("th", "notes of the evidence", { scope: "row" }));
  for (const set of sets) {
    const cell = element("td", "", { className: "n" });
    const text = `${set.notes} ${set.notes === 1 ? "note" : "notes"}`;
    const href = new URL(`${set.system}/${set.candidate}/#notes`, root).href;
    cell.append(set.notes ? element("a", text, { href }) : text);
    row.append(cell);
  }
  return row;
}

async function show(focus) {
  const found = await Promise.all(chosen.map(find));
  chosen = chosen.filter((_, index) => found[index]);
  const sets = found.filter(Boolean);
  base = Math.min(Math.max(base, 0), Math.max(sets.length - 1, 0));
  const missing = found.length - sets.length;
  told.textContent = [
    sets.length === 0 ? "Nothing is chosen yet." : sets.length === 1 ? "Add another one to compare with." : `${sets.length} sets`,
    sets.length === MOST ? `; ${MOST} are the most that fit` : "",
    missing ? `; ${missing} of the address do not exist` : "",
  ].join("");
  box.hidden = sets.length === 0;
  table.replaceChildren();
  if (sets.length) {
    const caption = element("caption", `Figures of ${sets.length} parameter sets; factors against ${sets[base].label} on ${sets[base].system}`);
    const [head, body] = [element("thead"), element("tbody")];
    head.append(headOf(sets));
    body.append(...rowsOf(sets).map((row) => bodyRow(row, sets)), notesRow(sets));
    table.append(caption, head, body);
  }
  if (focus) table.querySelector(`[data-key="${focus}"]`)?.focus();
  writeAddress();
}

async function remove(index) {
  chosen.splice(index, 1);
  if (base > index || base === chosen.length) base -= 1;
  await show();
  (table.querySelectorAll("button.drop")[Math.min(index, chosen.length - 1)] ?? form.elements.system).focus();
}

// ---- The address.

function readAddress() {
  const given = new URLSearchParams(location.search);
  chosen = [];
  for (const set of given.getAll("set")) {
    const [system, candidate, label] = set.split("/");
    if (label) add(system, `${candidate}/${label}`);
  }
  base = Number.parseInt(given.get("base") ?? "0", 10) || 0;
  if (systems.includes(given.get("system"))) form.elements.system.value = given.get("system");
}

function writeAddress() {
  const sets = chosen.map(({ system, candidate, label }) => `set=${[system, candidate, label].map(encodeURIComponent).join("/")}`);
  const query = [...sets, ...(base ? [`base=${base}`] : [])].join("&");
  history.replaceState(null, "", query ? `?${query}` : location.pathname);
}

form.hidden = false;
form.addEventListener("submit", addHere);
form.elements.everywhere.addEventListener("click", addEverywhere);
form.elements.system.addEventListener("change", offerSets);
form.elements.family.addEventListener("change", offerSets);
readAddress();
if (systems.length) await Promise.all([offerSets(), show()]);
document.documentElement.dataset.compare = "ready";
