// Loaded before a program under test: SIGUSR2 blocks its event loop for good.
process.on("SIGUSR2", () => {
  const forever = performance.now() + 600_000;
  while (performance.now() < forever);
});
