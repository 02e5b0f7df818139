;(() => {
const root = document.documentElement
let kept = 'system'
try {
kept = localStorage.getItem('railwright-theme') || 'system'
} catch {
}
root.dataset.theme = kept === 'dark' || (kept !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches) ? 'dark' : 'light'
const views = {calculator:["calculator.js","calculator.css","format.js","fit-text.js","menu.js","colours.js","contrast.js","bubble.js","changes.js","strategy.js","controls.js","flags.js","long-job.js","jobs.js","table.js"],search:["search.js","search.css","format.js","controls.js","layout.js","layout.css","fit-text.js","menu.js","strategy.js","progress.js","question.js","long-job.js","jobs.js","scatter.js","axes.js","scale.js","plot.js","plot.css","colours.js","table.js","tornado.js"],whatif:["whatif.js","whatif.css","fit-text.js","format.js","menu.js","controls.js","changes.js","strategy.js","layout.js","layout.css","colours.js","tornado.js","scale.js","plot.js","plot.css","scroll.js","bubble.js"],machines:["machines.js","machines.css","format.js","controls.js","layout.js","layout.css","fit-text.js","menu.js","strategy.js","progress.js","lines.js","axes.js","scatter.js","scale.js","plot.js","plot.css","long-job.js","jobs.js","question.js","table.js"],pipeline:["pipeline2.js","format.js","pipeline.js","pipeline.css","menu.js","contrast.js","bubble.js","table.js","open.js","open.css"],traces:["traces.js","traces.css","format.js","long-job.js","jobs.js","progress.js","tabs.js","tabs.css","fit-text.js","menu.js","pipeline.js","pipeline.css","contrast.js","bubble.js","table.js","controls.js","flags.js","open.js","open.css","plot.js","plot.css","cells.js"],log:["log.js","log.css","format.js","fit-text.js","menu.js","table.js","open.js","open.css","axes.js","scale.js","plot.js","plot.css"],hang:["hang.js","hang.css","fit-text.js","format.js","menu.js","table.js","open.js","open.css"],network:["network.js","network.css","format.js","fit-text.js","menu.js","scatter.js","axes.js","scale.js","plot.js","plot.css","table.js","controls.js","layout.js","layout.css","strategy.js","long-job.js","jobs.js","progress.js","question.js","lines.js","scroll.js","colours.js","tornado.js","cells.js"],reference:["reference.js","reference.css","format.js","tabs.js","tabs.css","fit-text.js","menu.js","table.js","jobs.js","scatter.js","axes.js","scale.js","plot.js","plot.css"]}
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
