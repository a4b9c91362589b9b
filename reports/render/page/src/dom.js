// Elements of the page. Text is always set as text, never as markup.

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value == null || value === false) continue;
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children.filter((child) => child != null));
  return made;
}

export const paragraph = (text, kind = 'note') => element('p', {class: kind}, text);

// Offers `text` as a file to save; nothing leaves the page.
export function saveButton(label, fileName, type, textOf) {
  return element('button', {
    type: 'button',
    class: 'plain',
    onclick: () => {
      const link = element('a', {download: fileName, href: URL.createObjectURL(new Blob([textOf()], {type}))});
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    },
  }, label);
}

let lastId = 0;

// A labelled choice; `options` are {label, value} with values of any type.
export function choice(label, options, chosen, onChange) {
  lastId += 1;
  const select = element('select', {
    id: `choice-${lastId}`,
    onchange: () => onChange(options[select.selectedIndex].value),
  }, ...options.map(({label: text, value}) => {
    const option = element('option', {}, text);
    option.selected = value === chosen;
    return option;
  }));
  return element('span', {class: 'choice'}, element('label', {for: select.id}, label), select);
}
