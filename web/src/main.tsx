// Starts the web UI.
import { render } from 'preact'
import { playground } from './api/playground/marker'
import { report } from './api/report'
import './styles/tokens.css'
import './styles/base.css'
import './styles/shell.css'
import './styles/states.css'
import './styles/fields.css'
import './styles/table.css'
import './styles/why.css'
import './styles/chart.css'
import './styles/print.css'
import './state/theme'
import './ui/tab-index'
import { keepFocus } from './ui/focus'
import { Shell } from './ui/shell'

// The largest file of the playground loads while the UI is drawn.
if (playground) void import('./api/playground/transport').then(({ warmUp }) => warmUp())

if (report) document.documentElement.dataset.report = ''
const root = document.getElementById('page')
// Replaces the static header of the HTML at once.
root?.replaceChildren()
keepFocus()
if (root) render(<Shell />, root)
