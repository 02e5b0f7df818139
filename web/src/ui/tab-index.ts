// SVG requires `tabindex` in lower case, but Preact passes `tabIndex` unchanged, so parts of charts could not get the focus. Renamed here
// for all elements.
import { options } from 'preact'

const before = options.vnode
options.vnode = (node) => {
  const props = node.props as { tabIndex?: number; tabindex?: number }
  if (typeof node.type === 'string' && props.tabIndex !== undefined) {
    props.tabindex = props.tabIndex
    delete props.tabIndex
  }
  before?.(node)
}
