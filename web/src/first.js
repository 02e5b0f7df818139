// Runs before the first paint (the build writes it to assets/first.js): sets the theme, and preloads the files of the view in the URL in
// parallel with the application. The build fills in `VIEWS`.
;(() => {
  const root = document.documentElement
  let kept = 'system'
  try {
    kept = localStorage.getItem('railwright-theme') || 'system'
  } catch {
    // Private windows reject storage.
  }
  root.dataset.theme = kept === 'dark' || (kept !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches) ? 'dark' : 'light'
  const views = {/*VIEWS*/}
  const view = (/^#\/([a-z]+)/.exec(location.hash) || [])[1] || 'calculator'
  if (!Object.hasOwn(views, view)) return
  root.dataset.view = view
  // The first question of nearly every view, before the scripts are there; the playground has no server.
  if (!document.getElementById('railwright-playground'))
    globalThis.railwrightStart = fetch('./api/v1/start').then(
      (response) => (response.ok ? response.json() : null),
      () => null,
    )
  for (const name of views[view]) {
    const link = document.createElement('link')
    link.rel = name.endsWith('.css') ? 'preload' : 'modulepreload'
    if (name.endsWith('.css')) link.as = 'style'
    link.crossOrigin = ''
    link.href = `./assets/${name}`
    document.head.append(link)
  }
})()
