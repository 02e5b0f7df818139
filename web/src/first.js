// Runs before anything is painted (the build writes it to assets/first.js): light or dark, and the files of the view that the address
// names set on their way, so that they come while the page itself does. `VIEWS` is filled in by the build.
;(() => {
  const root = document.documentElement
  let kept = 'system'
  try {
    kept = localStorage.getItem('railwright-theme') || 'system'
  } catch {
    // Private windows refuse.
  }
  root.dataset.theme = kept === 'dark' || (kept !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches) ? 'dark' : 'light'
  const views = {/*VIEWS*/}
  const view = (/^#\/([a-z]+)/.exec(location.hash) || [])[1] || 'calculator'
  if (!Object.hasOwn(views, view)) return
  root.dataset.view = view
  for (const name of views[view]) {
    const link = document.createElement('link')
    link.rel = name.endsWith('.css') ? 'preload' : 'modulepreload'
    if (name.endsWith('.css')) link.as = 'style'
    link.crossOrigin = ''
    link.href = `./assets/${name}`
    document.head.append(link)
  }
})()
