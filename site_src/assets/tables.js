// Makes the tables of a page sortable and filterable. DataTables sorts; this file adds what the site needs around it:
// filters by the facets of the rows (data-strength and so on), and a state that lives in the address, so that a link
// shows the same view. Without JavaScript the tables stay as they are.

import DataTable from "../performance/assets/datatables.js";

const form = document.querySelector("form.filters");
const natural = new Intl.Collator("en", { numeric: true }).compare;

// Figures sort by data-order; what has none (an absent or failed figure) comes last, whichever the direction.
const byNumber = (sign) => (a, b) => {
  const [x, y] = [a, b].map(Number.parseFloat);
  if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
  return sign * (x - y);
};
DataTable.ext.type.order["figure-asc"] = byNumber(1);
DataTable.ext.type.order["figure-desc"] = byNumber(-1);
const plainText = (html) => new DOMParser().parseFromString(html, "text/html").body.textContent.trim();
DataTable.ext.type.order["words-asc"] = (a, b) => natural(plainText(a), plainText(b));
DataTable.ext.type.order["words-desc"] = (a, b) => natural(plainText(b), plainText(a));

const slug = (text) => text.trim().toLowerCase().replace(/[^a-z0-9]+/g, "-");

function columnsOf(element) {
  return [...element.tHead.rows[0].cells].map((cell) => ({
    name: slug(cell.textContent),
    type: cell.classList.contains("n") ? "figure" : "words",
  }));
}

// What lies between the heading of a table's section and the next heading: hidden when no row of it is left.
function sectionOf(box) {
  const parts = [];
  for (let part = box; part; part = part.previousElementSibling) {
    parts.push(part);
    if (part.tagName === "H2") break;
  }
  return parts;
}

function upgrade(element) {
  const columns = columnsOf(element);
  const table = new DataTable(element, {
    autoWidth: false,
    columns,
    info: false,
    layout: { topStart: null, topEnd: null, bottomStart: null, bottomEnd: null },
    order: [],
    orderMulti: false,
    paging: false,
    searchHighlight: false,
  });
  return { key: element.dataset.sortable, table, element, names: columns.map((column) => column.name) };
}

// ---- State: the values of the filters, and by which column each table is sorted.

function readAddress() {
  const given = new URLSearchParams(location.search);
  if (form) {
    for (const control of form.querySelectorAll("[name]")) {
      control.value = given.get(control.name) ?? "";
      if (control.value === "" && control.tagName === "SELECT") control.selectedIndex = 0;
    }
  }
  for (const { key, table, names } of tables) {
    const wanted = given.getAll("sort").map((sort) => sort.split(".")).find(([of]) => of === key);
    const column = wanted ? names.indexOf(wanted[1]) : -1;
    table.order(column < 0 ? [] : [[column, wanted[2] === "desc" ? "desc" : "asc"]]);
  }
}

function writeAddress() {
  const state = new URLSearchParams(location.search);
  for (const name of [...(form ? [...form.elements].map((control) => control.name) : []), "sort"]) {
    if (name) state.delete(name);
  }
  for (const control of form?.querySelectorAll("[name]") ?? []) {
    if (control.value) state.set(control.name, control.value);
  }
  for (const { key, table, names } of tables) {
    const [sorted] = table.order();
    if (sorted?.[1]) state.append("sort", `${key}.${names[sorted[0]]}.${sorted[1]}`);
  }
  const query = state.toString();
  history.replaceState(null, "", (query ? `?${query}` : location.pathname) + location.hash);
}

// ---- Filters.

function facetsWanted() {
  return [...(form?.querySelectorAll("select") ?? [])]
    .filter((select) => select.name !== "family" && select.value)
    .map((select) => [select.name, select.value]);
}

function show() {
  const wanted = facetsWanted();
  const family = form?.elements.family?.value ?? "";
  const text = form?.elements.text?.value ?? "";
  let shown = 0;
  let all = 0;
  for (const { key, table, element } of tables) {
    const ofFamily = !family || key === family || key.startsWith(`${family}-`);
    const fits = (row) => wanted.every(([name, value]) => row.dataset[name] === value);
    table.search.fixed("facets", (_text, _data, index) => ofFamily && fits(table.row(index).node()));
    table.search(text).draw();
    const rows = table.rows({ search: "applied" }).count();
    element.dataset.sorted = table.order().length > 0;
    for (const part of sectionOf(element.closest(".table-box"))) part.hidden = rows === 0;
    if (key.includes("-")) continue;
    shown += rows;
    all += table.rows().count();
  }
  const told = form?.querySelector("output");
  if (told) told.textContent = shown === all ? `${all} rows` : `${shown} of ${all} rows`;
}

function changed() {
  show();
  writeAddress();
}

const tables = [...document.querySelectorAll("table[data-sortable]")].map(upgrade);
readAddress();
show();
for (const { table, element } of tables) {
  table.on("order", () => {
    element.dataset.sorted = table.order().length > 0;
    writeAddress();
  });
}
if (form) {
  form.hidden = false;
  form.addEventListener("input", changed);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(changed));
}
addEventListener("popstate", () => {
  readAddress();
  show();
});
document.documentElement.dataset.tables = "ready";
