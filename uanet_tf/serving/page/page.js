"use strict";
// Asks the server's own REST interface, and shows the answer. Text from outside becomes textContent only.
// Each sentence is asked for at the model's own Gamma, at 0 (all refined) and at a Gamma that nothing exceeds (all draft):
// the slider then chooses per token at once. When it rests, the server is asked for that Gamma, since
// labels that contradict one another (B-PER E-LOC) are decided for the whole sentence.

const STEPS = [0.1, 0.3, 0.6, 1.0, 1.5]; // nats, as in the notebook
const DRAFT_ONLY = 1e9; // a Gamma above every entropy
const REQUEST_TOKENS = 2000; // a server takes 4,096 unless told otherwise
const PAUSE = 250; // milliseconds without a move of the slider
const LEAST_SURE = 10; // rows of the table where labels are no chunks
const TURNING = /[\u202a-\u202e\u2066-\u2069]/g; // would turn the rest of the line, numbers too
const $ = (id) => document.getElementById(id);

let models = [];
let answer = null; // {name, version, sentences, gate, gamma, chunks}
let asked = 0; // number of the latest question: answers to older ones are dropped
let timer = 0;
let acceptMoved = false; // by hand: it then stays

// ---------------------------------------------------------------- the server

async function ask(path, body) {
  let response;
  try {
    response = await fetch(path, body && { method: "POST", body: JSON.stringify(body) });
  } catch {
    throw new Error("The server does not answer. Is it still running?");
  }
  const content = await response.json().catch(() => ({}));
  if (response.ok) return content;
  // Of an assertion in a graph its message alone.
  const reason = (content.error || response.statusText).replace(/^.*?assertion failed: \[([^\]]+)\] \[.*$/s, "$1");
  if (response.status === 404) throw new Error(`The model is not ready: ${reason}`);
  if (response.status === 504) throw new Error(`It took too long: ${reason}`);
  throw new Error(`The server refused (${response.status}): ${reason}`);
}

function predict(name, version, body) {
  const place = version ? `/versions/${version}` : "";
  return ask(`/v1/models/${encodeURIComponent(name)}${place}:predict`, body).then((content) => content.outputs);
}

async function split(lines, model, version) {
  // Tokens with the text before each, and, if the model of texts is the only one, its answer.
  const partner = model.text || models.find((each) => each.name === `${model.name}_text` && each.text);
  if (!partner) {
    return { sentences: lines.map((line) => withGaps(line, line.trim().split(/\s+/))) };
  }
  const same = partner === model || available(partner).includes(Number(version));
  const outputs = await predict(partner.name, same ? version : "", { inputs: lines });
  const sentences = lines.map((line, row) => withGaps(line, outputs.tokens[row].slice(0, outputs.lengths[row])));
  return { sentences, outputs };
}

function withGaps(line, tokens) {
  let position = 0;
  const gaps = tokens.map((token) => {
    const start = line.indexOf(token, position);
    if (start < 0) return " ";
    const gap = line.slice(position, start);
    position = start + token.length;
    return gap;
  });
  return { tokens, gaps };
}

async function tagTokens(name, version, sentences, gamma) {
  const width = Math.max(1, ...sentences.map(({ tokens }) => tokens.length));
  const inputs = {
    tokens: sentences.map(({ tokens }) => tokens.concat(Array(width - tokens.length).fill(""))),
    lengths: sentences.map(({ tokens }) => tokens.length),
  };
  if (gamma === undefined) return rows(await predict(name, version, { inputs }), sentences);
  inputs.threshold = sentences.map(() => gamma);
  return rows(await predict(name, version, { signature_name: "with_threshold", inputs }), sentences);
}

function rows(outputs, sentences) {
  return sentences.map(({ tokens }, row) => {
    const perToken = Object.entries(outputs).filter(([, values]) => Array.isArray(values[row]));
    return Object.fromEntries(perToken.map(([name, values]) => [name, values[row].slice(0, tokens.length)]));
  });
}

// ---------------------------------------------------------------- asking

function* requests(lines) {
  // A server limits the tokens of a request, padding included: few long lines, or many short ones.
  let part = [], longest = 0;
  for (const line of lines) {
    const size = (line.match(/[\p{L}\p{N}\p{M}_]+|[^\s\p{L}\p{N}\p{M}_]/gu) || []).length;
    if (part.length && (part.length + 1) * Math.max(longest, size) > REQUEST_TOKENS) {
      yield part;
      part = [];
      longest = 0;
    }
    part.push(line);
    longest = Math.max(longest, size);
  }
  yield part;
}

async function tagLines(lines, model, version, gate) {
  const { sentences, outputs } = await split(lines, model, version);
  const questions = model.text
    ? [Promise.resolve(rows(outputs, sentences))]
    : (gate ? [undefined, 0, DRAFT_ONLY] : [undefined]).map((gamma) => tagTokens(model.name, version, sentences, gamma));
  const [own, refined, draft] = await Promise.all(questions);
  return sentences.map((sentence, row) => {
    return { ...sentence, own: own[row], refined: refined && refined[row], draft: draft && draft[row], shown: own[row] };
  });
}

async function tag() {
  const lines = $("text").value.split("\n").filter((line) => line.trim());
  const [name, version] = [$("model").value, $("version").value];
  if (!name) return;
  if (!lines.length) return say("Write a sentence first.");
  const number = ++asked;
  $("tag").disabled = true;
  try {
    await fetchModels(); // another version may be served by now
    const model = models.find((each) => each.name === name);
    if (!model || (version && !available(model).includes(Number(version)))) {
      throw new Error(`${name}${version && `, version ${version},`} is no longer served.`);
    }
    const gate = !model.text && Boolean(model.signatures.with_threshold);
    const sentences = [];
    for (const part of requests(lines)) {
      sentences.push(...(await tagLines(part, model, version, gate)));
      if (number !== asked) return;
    }
    const labels = sentences.flatMap(({ own }) => own.labels);
    answer = { name: model.name, version, sentences, gate, gamma: version ? null : model.gamma, chunks: labels.every((label) => label === "O" || parse(label)) };
    say("");
    $("result").hidden = false;
    useOwnGamma();
  } catch (error) {
    $("result").hidden = true; // of another text, or of what is no longer there
    if (number === asked) say(error.message);
  } finally {
    $("tag").disabled = false;
  }
}

function useOwnGamma() {
  clearTimeout(timer);
  asked++;
  for (const sentence of answer.sentences) sentence.shown = sentence.own;
  const [below, above] = ownGamma();
  const all = answer.sentences.flatMap(({ own }) => own.uncertainty);
  $("gamma").max = (Math.ceil(10 * Math.max(1, ...all)) / 10 + 0.1).toFixed(1);
  // Without a number (an older version, an older export) what these tokens tell decides.
  const known = answer.gamma !== null && below <= answer.gamma && answer.gamma < above;
  $("gamma").value = known ? answer.gamma : (below + Math.min(above, below + 1)) / 2;
  $("gamma-value").textContent = known ? `${answer.gamma.toFixed(2)} nats, its own` : "its own";
  $("gamma-row").hidden = !answer.gate;
  $("no-gamma").hidden = answer.gate;
  if (!acceptMoved) startAtPromise();
  show();
}

function startAtPromise() {
  // Where the run itself accepts, as far as these entities tell: from the least sure accepted one on, or else above all of
  // them. With a threshold per type there may be no such place.
  const spans = answer.sentences.flatMap(({ own }) => entities(own)).filter(({ promised }) => promised !== undefined);
  const part = (is) => spans.filter(({ promised }) => promised === is).map(({ confidence }) => confidence);
  const refused = Math.max(0, ...part(false));
  const least = part(true).length ? Math.floor(100 * Math.min(...part(true))) / 100 : Math.floor(100 * refused + 1) / 100;
  if (spans.length && least > refused) $("accept").value = least;
}

function ownGamma() {
  // The interval in which the model's own Gamma is, as far as these tokens tell.
  let below = 0, above = Infinity;
  for (const { own } of answer.sentences) {
    own.uncertainty.forEach((nats, index) => {
      if (own.refined[index]) above = Math.min(above, nats);
      else below = Math.max(below, nats);
    });
  }
  return [below, above];
}

function moveGamma() {
  const gamma = Number($("gamma").value);
  $("gamma-value").textContent = `${gamma.toFixed(2)} nats`;
  for (const sentence of answer.sentences) sentence.shown = mixed(sentence, gamma);
  show();
  clearTimeout(timer);
  timer = setTimeout(() => askGamma(gamma), PAUSE);
}

function mixed({ own, refined, draft }, gamma) {
  const open = own.uncertainty.map((nats) => nats > gamma);
  const pick = (name) => open.map((is, index) => (is ? refined : draft)[name][index]);
  return { ...own, labels: pick("labels"), confidence: pick("confidence"), refined: open, accepted: undefined };
}

async function askGamma(gamma) {
  const number = ++asked;
  const { name, version, sentences } = answer;
  try {
    const exact = await tagTokens(name, version, sentences, gamma);
    if (number !== asked) return;
    sentences.forEach((sentence, row) => { sentence.shown = exact[row]; });
    say("");
    show();
  } catch (error) {
    if (number === asked) say(error.message);
  }
}

// ---------------------------------------------------------------- entities

function parse(label) {
  const parts = /^([BIESLUMW])-(.+)$/u.exec(label);
  return parts && { prefix: parts[1], type: parts[2] };
}

function entities({ labels, confidence, uncertainty, accepted }) {
  const found = [];
  let ended = true;
  labels.forEach((label, index) => {
    const part = answer.chunks ? parse(label) : { prefix: "S", type: label };
    if (!part) { ended = true; return; }
    const last = found[found.length - 1];
    if (ended || "BSUW".includes(part.prefix) || part.type !== last.type) {
      found.push({ type: part.type, start: index, end: index + 1, confidence: confidence[index],
        uncertainty: uncertainty[index], promised: accepted && accepted[index] });
    } else {
      last.end = index + 1;
      last.confidence = Math.min(last.confidence, confidence[index]);
      last.uncertainty = Math.max(last.uncertainty, uncertainty[index]);
      last.promised = last.promised && accepted && accepted[index];
    }
    ended = "ESLUW".includes(part.prefix);
  });
  return found;
}

// ---------------------------------------------------------------- showing

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

const written = (text) => text.replace(TURNING, (mark) => `\\u${mark.charCodeAt(0).toString(16)}`);

const percent = (value) => `${(100 * value).toFixed(0)} %`;

function show() {
  const least = Number($("accept").value);
  $("accept-value").textContent = percent(least);
  const focused = document.activeElement && document.activeElement.dataset.place;
  const spans = answer.sentences.map(({ shown }) => entities(shown));
  $("sentences").replaceChildren(...answer.sentences.map((sentence, row) => paragraph(sentence, row, spans[row], least)));
  const tokens = [...document.querySelectorAll("#sentences .token")];
  const current = tokens.find((token) => token.dataset.place === focused);
  if (tokens.length) (current || tokens[0]).tabIndex = 0;
  if (current) current.focus();
  summarize(spans.flat(), least);
  table(spans, least);
}

function paragraph(sentence, row, spans, least) {
  const made = element("p", "sentence");
  made.dir = "auto";
  const starts = new Map(spans.map((span) => [span.start, span]));
  let place = made, until = -1;
  sentence.tokens.forEach((text, index) => {
    if (index === until) place = made;
    place.append(written(sentence.gaps[index]));
    const span = starts.get(index);
    if (span) {
      place = element("span", answer.chunks ? "entity" : "");
      if (span.confidence < least) place.className = "entity refused";
      until = span.end;
      made.append(place);
    }
    place.append(token(sentence, row, index, text));
    if (span || index + 1 === until) {
      const whole = index + 1 === until && spans.find((each) => each.end === until);
      if (whole) place.append(chip(whole, least));
    }
  });
  return made;
}

function chip(span, least) {
  const doubt = span.confidence < least ? "?" : "";
  const made = element("span", "chip");
  made.dir = "ltr"; // numbers keep their order in lines that run from right to left
  made.append(element("bdi", "", written(span.type)), answer.chunks ? `${doubt} ${percent(span.confidence)}` : doubt);
  return made;
}

function token({ shown }, row, index, text) {
  const nats = shown.uncertainty[index];
  const step = STEPS.filter((from) => nats >= from).length;
  const made = element("span", `token u${step}${shown.refined[index] ? " refined" : ""}`, written(text));
  made.dataset.place = `${row} ${index}`;
  made.tabIndex = -1;
  made.setAttribute("role", "button");
  const draft = shown.draft_labels[index], label = shown.labels[index];
  const change = shown.refined[index] ? (draft === label ? "; refined, the same as the draft" : `; refined, the draft said ${draft}`) : "";
  const about = `\u2068${written(text)}\u2069: ${label}, confidence ${percent(shown.confidence[index])}, uncertainty ${nats.toFixed(2)} nats${change}`;
  made.title = about;
  made.setAttribute("aria-label", about);
  return made;
}

function summarize(spans, least) {
  const all = answer.sentences.map(({ shown }) => shown);
  const count = (test) => all.reduce((sum, shown) => sum + shown.labels.filter((_, index) => test(shown, index)).length, 0);
  const tokens = count(() => true);
  const parts = [];
  if (answer.gate) {
    const open = count((shown, index) => shown.refined[index]);
    const changed = count((shown, index) => shown.refined[index] && shown.labels[index] !== shown.draft_labels[index]);
    parts.push(`${open} of ${tokens} tokens are above Gamma and were refined; ${changed} of them got another label.`);
  }
  const kept = spans.filter((span) => span.confidence >= least).length;
  parts.push(`${kept} of ${spans.length} ${answer.chunks ? "entities" : "labels"} are accepted.`);
  $("summary").textContent = parts.join(" ");
}

function table(spans, least) {
  let rows = spans.flatMap((each, row) => each.map((span) => ({ ...span, row })));
  if (!answer.chunks) rows = rows.sort((a, b) => a.confidence - b.confidence).slice(0, LEAST_SURE);
  $("caption").textContent = answer.chunks ? "Entities" : "The least sure labels";
  $("kind").textContent = answer.chunks ? "Type" : "Label";
  $("rows").replaceChildren(...rows.map((span) => {
    const { tokens, gaps } = answer.sentences[span.row];
    const text = tokens.slice(span.start, span.end).map((word, index) => (index ? gaps[span.start + index] : "") + word).join("");
    const promised = span.promised === undefined ? "" : span.promised ? " (the run: yes)" : " (the run: no)";
    const accepted = (span.confidence >= least ? "yes" : "no") + promised;
    const cells = [written(text), written(span.type), percent(span.confidence), span.uncertainty.toFixed(2), accepted];
    const made = element("tr");
    made.append(...cells.map((cell) => element("td", "", cell)));
    return made;
  }));
  if (!rows.length) {
    const made = element("td", "hint", "none");
    made.colSpan = 5;
    $("rows").append(made);
  }
}

function legend() {
  const pieces = ["uncertainty, nats:"].concat(STEPS.map((least, index) => {
    return element("span", `token u${index + 1}`, `≥ ${least}`);
  }));
  const entity = element("span", "entity", "accepted");
  const refused = element("span", "entity refused", "not accepted?");
  $("legend").append(...pieces, element("span", "token refined", "refined"), entity, refused);
}

function say(message) {
  $("message").textContent = message;
  $("message").hidden = !message;
}

// ---------------------------------------------------------------- models

const available = (model) => model.versions.filter(({ state }) => state === "AVAILABLE").map(({ version }) => version);

async function loadModels() {
  try {
    await fetchModels();
    sayIfNotReady();
  } catch (error) {
    say(error.message);
  }
}

async function fetchModels() {
  const found = (await ask("models.json")).models;
  models = found.map((model) => ({ ...model, text: String((model.signatures.serving_default || [])) === "text" }));
  const names = new Set(models.map(({ name }) => name));
  const offered = models.filter((model) => {
    const inputs = model.signatures.serving_default;
    const half = model.name.endsWith("_text") && names.has(model.name.slice(0, -5));
    return !half && (!inputs || model.text || String(inputs) === "lengths,tokens");
  });
  const chosen = $("model").value;
  $("model").replaceChildren(...offered.map(({ name }) => element("option", "", name)));
  const kept = offered.some(({ name }) => name === chosen);
  if (kept) $("model").value = chosen;
  offerVersions(kept ? $("version").value : "");
}

function offerVersions(chosen) {
  const model = models.find(({ name }) => name === $("model").value);
  const versions = model ? available(model).map(String) : [];
  const latest = element("option", "", "latest");
  latest.value = "";
  $("version").replaceChildren(latest, ...versions.map((version) => element("option", "", version)));
  if (versions.includes(chosen)) $("version").value = chosen;
}

function chooseModel() {
  acceptMoved = false;
  $("accept").value = $("accept").defaultValue;
  offerVersions("");
  forget();
  sayIfNotReady();
}

function forget() {
  // An answer never stands below the name of another model or version.
  asked++;
  clearTimeout(timer);
  $("result").hidden = true;
}

function sayIfNotReady() {
  const model = models.find(({ name }) => name === $("model").value);
  if (!model) return say("This server has no tagger: no model takes tokens or text.");
  const ready = available(model).length > 0;
  $("tag").disabled = !ready;
  if (ready) return say("");
  const states = model.versions.map(({ version, state, error }) => `version ${version} is ${state}${error ? `: ${error}` : ""}`);
  say(`${model.name} is not ready: ${states.join("; ") || "it has no version"}. This page looks again every few seconds.`);
  setTimeout(loadModels, 3000);
}

// ---------------------------------------------------------------- events

function detail(event) {
  const { title } = event.target;
  if (event.target.classList.contains("token")) $("detail").textContent = title;
}

function walk(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const tokens = [...document.querySelectorAll("#sentences .token")];
  const next = tokens[tokens.indexOf(event.target) + step];
  if (!next) return;
  event.preventDefault();
  event.target.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

$("form").addEventListener("submit", (event) => { event.preventDefault(); tag(); });
$("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); tag(); }
});
$("model").addEventListener("change", chooseModel);
$("version").addEventListener("change", forget);
$("gamma").addEventListener("input", moveGamma);
$("own-gamma").addEventListener("click", useOwnGamma);
$("accept").addEventListener("input", () => { acceptMoved = true; show(); });
$("sentences").addEventListener("focusin", detail);
$("sentences").addEventListener("click", (event) => { if (event.target.focus) event.target.focus(); detail(event); });
$("sentences").addEventListener("keydown", walk);
legend();
loadModels();
