// SVG knows the attribute `tabindex` only in lower case, and Preact passes `tabIndex` on as it stands: parts of charts would
// never get the focus. Renamed here once, for every element.
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
