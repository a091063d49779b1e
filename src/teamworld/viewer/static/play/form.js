"use strict";
// The form of an answer: each field by its kind, all texts as text nodes.
(function (tw) {
  const el = tw.el;
  let made = 0;

  const legend = (field, ...more) => el("legend", null, tw.say(field.name), field.words ? el("span", { class: "soft" }, field.words) : null, more);
  const cleanLines = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);

  /** A text area that counts what is left where it is limited. */
  function area(field, rows, value) {
    const box = el("textarea", { rows, "aria-label": tw.say(field.name), maxlength: field.longest });
    box.value = value;
    const counter = field.longest ? el("span", { class: "count counter", "aria-hidden": true }) : null;
    const count = () => counter && (counter.textContent = box.value.length > field.longest * 0.6 ? `${box.value.length} of ${field.longest}` : "");
    box.addEventListener("input", count);
    return { box, counter };
  }

  /** One of the offers. */
  function choice(field, changed) {
    const name = `field${(made += 1)}`;
    const box = el("div", { class: "offers", role: "radiogroup", "aria-label": tw.say(field.name) });
    let offers = field.offers;
    const own = el("input", { type: "text", placeholder: "your own, in written form", "aria-label": `${tw.say(field.name)}: your own`, on: { input: () => (other.querySelector("input").checked = true) } });
    const other = el("label", { class: "offer" }, el("input", { type: "radio", name, value: "own", "aria-label": "your own", on: { change: changed } }), el("span", { class: "words" }, own));
    const fill = (chosen) => {
      box.replaceChildren(...offers.map((offer, place) => {
        const radio = el("input", { type: "radio", name, value: place, checked: chosen !== undefined && JSON.stringify(offer.value) === JSON.stringify(chosen), on: { change: changed } });
        return el("label", { class: "offer" }, radio, place < 9 ? el("kbd", null, String(place + 1)) : null,
          el("span", { class: "words" }, tw.say(offer.words)), offer.note ? el("small", null, offer.note) : null);
      }), ...(field.is_open ? [other] : []));
    };
    const picked = () => {
      const radio = box.querySelector("input:checked");
      return !radio ? undefined : radio.value === "own" ? own.value.trim() : offers[Number(radio.value)].value;
    };
    fill(field.is_required ? undefined : field.default);
    return {
      node: el("fieldset", { class: "field" }, legend(field), box),
      value: picked,
      pick: (place) => {
        const radio = box.querySelectorAll("input")[place];
        if (!radio) return;
        radio.checked = true;
        radio.focus();
        changed();
      },
      renew: (fresh) => {
        if (JSON.stringify(fresh.offers) === JSON.stringify(offers)) return;
        const chosen = picked();
        offers = fresh.offers;
        fill(chosen);
      },
    };
  }

  /** Several texts, each a line; an offer fills them in, to be changed or sent. */
  function lines(field) {
    const { box, counter } = area(field, 4, (field.default ?? []).join("\n"));
    box.setAttribute("placeholder", "one on each line");
    const list = el("div", { class: "offers" });
    let offers = null;
    const fill = () => {
      list.hidden = !offers.length;
      list.replaceChildren(...offers.map((offer, place) => el("button", {
        type: "button", class: "offer", on: { click: () => {
          box.value = Array.isArray(offer.value) ? offer.value.join("\n") : [...cleanLines(box.value), offer.value].join("\n");
          box.focus();
        } },
      }, place < 9 ? el("kbd", null, String(place + 1)) : null,
      el("span", { class: "words" }, Array.isArray(offer.value) ? el("ol", { class: "plan" }, offer.value.map((part) => el("li", null, tw.say(part)))) : tw.say(offer.words)),
      offer.note ? el("small", null, offer.note) : null)));
    };
    const renew = (fresh) => {
      if (JSON.stringify(fresh.offers) === JSON.stringify(offers)) return;
      offers = fresh.offers;
      fill();
    };
    renew(field);
    return {
      node: el("fieldset", { class: "field lines" }, legend(field, counter), list, box),
      value: () => cleanLines(box.value),
      pick: (place) => list.querySelectorAll("button")[place]?.click(),
      renew,
    };
  }

  function text(field) {
    const { box, counter } = area(field, field.longest && field.longest < 100 ? 1 : 2, field.default ?? "");
    return {
      node: el("fieldset", { class: "field" }, legend(field, counter), box),
      value: () => (box.value.trim() || field.is_required || field.default !== null ? box.value : field.is_nullable ? null : undefined),
    };
  }

  function flag(field) {
    const box = el("input", { type: "checkbox", checked: field.default === true });
    return { node: el("div", { class: "field" }, el("label", { class: "check" }, box, el("span", null, tw.say(field.name), " ", el("span", { class: "soft" }, field.words)))), value: () => box.checked };
  }

  function number(field) {
    const box = el("input", { type: "number", step: "any", "aria-label": tw.say(field.name) });
    box.value = field.default ?? "";
    return { node: el("fieldset", { class: "field" }, legend(field), box), value: () => (box.value === "" ? undefined : Number(box.value)) };
  }

  /** Rows of fields, such as an action for each agent. */
  function rows(field) {
    const all = [];
    const list = el("div", { class: "rows" });
    const lists = new Map(field.fields.filter((part) => part.offers.length).map((part) =>
      [part.name, el("datalist", { id: `list${(made += 1)}` }, part.offers.map((offer) => el("option", { value: offer.words })))]));
    const add = () => {
      const cells = field.fields.map((part) => {
        const box = el("input", { type: "text", "aria-label": tw.say(part.name), list: lists.get(part.name)?.id });
        const value = () => (part.kind === "lines" ? box.value.split(";").map((word) => word.trim()).filter(Boolean)
          : part.kind === "number" ? (box.value === "" ? undefined : Number(box.value))
            : box.value.trim() || !part.is_nullable ? box.value : null);
        return { part, box, value };
      });
      const row = { value: () => Object.fromEntries(cells.map(({ part, value }) => [part.name, value()]).filter(([, value]) => value !== undefined)) };
      const node = el("div", { class: "line" },
        cells.map(({ part, box }) => el("label", { title: part.words }, `${tw.say(part.name)}${part.kind === "lines" ? ", with ; between" : ""}`, box)),
        el("button", { type: "button", "aria-label": "Remove this row", on: { click: () => {
          all.splice(all.indexOf(row), 1);
          node.remove();
        } } }, "−"));
      all.push(row);
      list.append(node);
    };
    if (field.is_required) add();
    return {
      node: el("fieldset", { class: "field" }, legend(field), ...lists.values(), list, el("button", { type: "button", on: { click: add } }, "+ row")),
      value: () => all.map((row) => row.value()),
    };
  }

  function json(field) {
    const { box } = area(field, 3, field.default === null ? "" : JSON.stringify(field.default));
    return {
      node: el("fieldset", { class: "field" }, legend(field), box),
      value: () => {
        if (!box.value.trim()) return undefined;
        try {
          return JSON.parse(box.value);
        } catch {
          throw new Error(`${tw.say(field.name)}: expected JSON`);
        }
      },
    };
  }

  const KINDS = { choice, lines, text, flag, number, rows, json };

  class Form {
    /** Show fields in a box; `changed` is called when a choice is made. */
    constructor(box, fields, changed) {
      this.fields = fields.map((field) => ({ field, part: KINDS[field.kind](field, changed) }));
      this.depends = fields.filter((field) => field.offers.length).length > 1;
      box.replaceChildren(...this.fields.map(({ part }) => part.node));
    }

    /** The values so far, by name; throws an Error in words where a field cannot be read. */
    values() {
      return Object.fromEntries(this.fields.map(({ field, part }) => [field.name, part.value()]).filter(([, value]) => value !== undefined));
    }

    /** Words on the first required choice that is not made; empty if all are. */
    lacking() {
      const open = this.fields.find(({ field, part }) => field.is_required && field.kind === "choice" && part.value() === undefined);
      return open ? `choose: ${tw.say(open.field.name)}` : "";
    }

    /** Take in fields with other offers, after a choice. */
    renew(fields) {
      for (const [at, { part }] of this.fields.entries()) part.renew?.(fields[at]);
    }

    /** Choose an offer of the first field that has some and is not filled in, else of the first. */
    pick(place) {
      const able = this.fields.filter(({ field, part }) => part.pick && field.offers.length);
      const open = able.find(({ field, part }) => field.kind === "choice" && part.value() === undefined);
      (open ?? able.find(({ field }) => field.kind === "lines") ?? able[0])?.part.pick(place);
    }
  }

  tw.AnswerForm = Form;
})(window.teamworld);
