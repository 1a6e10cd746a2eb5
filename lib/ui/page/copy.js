/** Copies the text of the element that a button names. */
document.addEventListener('click', async (event) => {
  const button = event.target.closest?.('button[data-copy]');
  if (!button) return;
  const { textContent } = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(textContent);
    button.textContent = 'Copied';
  } catch (error) {
    button.textContent = `Cannot copy: ${error.message}`;
  }
});
