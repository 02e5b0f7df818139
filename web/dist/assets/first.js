;(() => {
const root = document.documentElement
let kept = 'system'
try {
kept = localStorage.getItem('railwright-theme') || 'system'
} catch {
}
root.dataset.theme = kept === 'dark' || (kept !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches) ? 'dark' : 'light'
const views = {calculator:["calculator.js","calculator.css","states.js","state.js","frame.js","dimensions.js","flags.js","table-panel.js","icicle.js","contrast.js","tip.js","bubble.js","fit.js","holding.js","fields.js","long-job.js","nothing.js","load.js","question.js","remove.js","controls.js","parts.js","area.js","limit.js","columns.js","legend.js","table.js","evidence.js","suggestions.js","changes.js"],search:["search.js","search.css","states.js","state.js","controls.js","parts.js","load.js","flags.js","command.js","progress.js","run-bar.js","frame.js","fit.js","nothing.js","question.js","long-job.js","dimensions.js","table.js","scatter.js","axes.js","plot.js","plot.css","heat-table.js","contrast.js","legend.js","several.js","narrow.js","remove.js","settings.js","tornado.js","layout.css","run-problems.js","suggestions.js"],whatif:["whatif.js","whatif.css","frame.js","states.js","state.js","controls.js","parts.js","fit.js","command.js","run-bar.js","flags.js","changes.js","remove.js","settings.js","dimensions.js","tornado.js","plot.js","plot.css","table-panel.js","bubble.js","load.js","layout.css","run-problems.js","suggestions.js"],machines:["machines.js","machines.css","states.js","state.js","controls.js","parts.js","load.js","flags.js","command.js","progress.js","run-bar.js","frame.js","several.js","lines.js","axes.js","scatter.js","plot.js","plot.css","long-job.js","question.js","table.js","layout.css","run-problems.js","suggestions.js"],pipeline:["pipeline2.js","states.js","state.js","frame.js","pipeline.js","pipeline.css","contrast.js","icicle.js","dimensions.js","flags.js","tip.js","bubble.js","table.js","open.js","open.css","parts.js","fields.js","holding.js","run-problems.js","suggestions.js"],traces:["traces.js","traces.css","states.js","state.js","long-job.js","frame.js","progress.js","tabs.js","tabs.css","pipeline.js","pipeline.css","contrast.js","icicle.js","dimensions.js","flags.js","tip.js","bubble.js","table.js","controls.js","parts.js","remove.js","settings.js","run-options.js","run-bar.js","open.js","open.css","fields.js","heat-table.js","plot.js","plot.css","legend.js","scatter.js","axes.js","layout.css"],log:["log.js","log.css","states.js","state.js","frame.js","table.js","open.js","open.css","parts.js","axes.js","plot.js","plot.css"],snapshot:["snapshot.js","snapshot.css","frame.js","states.js","state.js","area.js","limit.js","tip.js","table.js","open.js","open.css","parts.js","layout.css"],hang:["hang.js","hang.css","frame.js","states.js","state.js","table.js","open.js","open.css","parts.js"],network:["network.js","network.css","states.js","state.js","controls.js","parts.js","remove.js","load.js","flags.js","long-job.js","frame.js","narrow.js","dimensions.js","question.js","progress.js","run-bar.js","scatter.js","axes.js","plot.js","plot.css","command.js","settings.js","table.js","run-problems.js","suggestions.js","lines.js","run-options.js","table-panel.js","tornado.js","heat-table.js","contrast.js","legend.js","fields.js","columns.js","limit.js","tip.js","layout.css"],reference:["reference.js","reference.css","states.js","state.js","tabs.js","tabs.css","frame.js","table.js","scatter.js","axes.js","plot.js","plot.css","fields.js","evidence.js"]}
const view = (/^#\/([a-z]+)/.exec(location.hash) || [])[1] || 'calculator'
if (!Object.hasOwn(views, view)) return
root.dataset.view = view
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
