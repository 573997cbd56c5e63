// Adds a copy button to every code block, if the browser allows access to the clipboard. If there is no button, the reader can select the
// code.
function addCopyButton(block) {
  const frame = document.createElement('div');
  frame.className = 'code';
  block.replaceWith(frame);
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.addEventListener('click', () => void copy(block, button));
  frame.append(block, button);
}

async function copy(block, button) {
  await navigator.clipboard.writeText(block.textContent);
  button.textContent = 'Copied';
  setTimeout(() => {
    button.textContent = 'Copy';
  }, 2_000);
}

if (navigator.clipboard !== undefined) {
  document.querySelectorAll('pre').forEach(addCopyButton);
}
