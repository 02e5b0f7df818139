// Finds texts that are cut, that lie over each other, or that leave the window, by the boxes that the browser gives. Runs in the page.

/** Lines of what is wrong: `cut`, `over` (two texts on one place), `outside`. Texts with a title, in which all of it can be read, are no fault. */
export function findCut() {
  const isEmpty = (text) => text.trim().length === 0
  const named = (element) => {
    const classes = (element.getAttribute('class') ?? '').trim().split(/\s+/).filter(Boolean).slice(0, 2)
    return `${element.tagName.toLowerCase()}${classes.map((one) => `.${one}`).join('')}`
  }
  const where = (element) => {
    const up = element.parentElement
    return `${up ? `${named(up)} > ` : ''}${named(element)}`
  }
  const quote = (text) => `“${text.trim().replace(/\s+/g, ' ').slice(0, 50)}”`
  // The whole text can be read in a title.
  const isTitled = (element, text) => element.closest('[title]')?.title.includes(text.trim()) ?? false
  const layer = '.overlay, [role=tooltip], [role=menu], [role=listbox], [popover], dialog'
  const open = [...document.querySelectorAll('.overlay, dialog[open]')]
  const isHidden = (element) =>
    element.closest('[hidden], .hidden-visually, .timeline-spoken, .skip, title, desc, style, script, noscript, option, template') !==
      null ||
    (open.length > 0 && !element.closest('.overlay, dialog[open]')) ||
    !element.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true })

  // The part of a box that its ancestors let through: what scrolls is reachable, what is hidden is cut.
  const styles = new Map()
  const styleOf = (element) => {
    const known = styles.get(element)
    if (known) return known
    const style = getComputedStyle(element)
    const one = {
      x: style.overflowX,
      y: style.overflowY,
      position: style.position,
      svg: element instanceof SVGSVGElement,
      lines: style.webkitLineClamp !== 'none',
    }
    styles.set(element, one)
    return one
  }
  const clipOf = (element) => {
    const clip = { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity, scrolls: false, sticky: null }
    for (let one = element; one && one !== document.body; one = one.parentElement) {
      const style = styleOf(one)
      // What sticks may hold what scrolls.
      if (style.position === 'sticky' && !clip.sticky) clip.sticky = one
      if (style.position === 'fixed') {
        clip.sticky ??= one
        break
      }
      const [hidesX, hidesY] = [style.x, style.y].map((kind) => kind === 'hidden' || kind === 'clip')
      const [scrollsX, scrollsY] = [style.x, style.y].map((kind) => kind === 'auto' || kind === 'scroll')
      if (clip.scrolls || (!hidesX && !hidesY && !scrollsX && !scrollsY)) continue
      const box = one.getBoundingClientRect()
      if (scrollsX || scrollsY) {
        clip.scrolls = true
        clip.seen = box
        continue
      }
      if (hidesX) {
        clip.left = Math.max(clip.left, box.left)
        clip.right = Math.min(clip.right, box.right)
      }
      if (hidesY) {
        clip.top = Math.max(clip.top, box.top)
        clip.bottom = Math.min(clip.bottom, box.bottom)
      }
    }
    return clip
  }

  const wrong = []
  const texts = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement
    if (!element || isEmpty(node.data) || isHidden(element)) continue
    const range = document.createRange()
    range.selectNodeContents(node)
    const boxes = [...range.getClientRects()].filter((box) => box.width > 1 && box.height > 1)
    if (boxes.length === 0) continue
    const clip = clipOf(element)
    const titled = isTitled(element, node.data)
    for (const box of boxes) {
      const cutX = Math.max(clip.left - box.left, box.right - clip.right)
      const cutY = Math.max(clip.top - box.top, box.bottom - clip.bottom)
      // The box of a line has room above and below its letters.
      if (!titled && (cutX > 1.5 || cutY > box.height * 0.3)) {
        wrong.push(`cut: ${where(element)} ${quote(node.data)} by ${Math.round(Math.max(cutX, cutY))} px`)
        break
      }
      if (!clip.scrolls && (box.right > innerWidth + 1 || box.left < -1) && clip.right > innerWidth) {
        wrong.push(`outside: ${where(element)} ${quote(node.data)} by ${Math.round(Math.max(box.right - innerWidth, -box.left))} px`)
        break
      }
    }
    for (const box of boxes) {
      const seen = clip.seen ?? { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity }
      const left = Math.max(box.left, clip.left, seen.left)
      const right = Math.min(box.right, clip.right, seen.right)
      const top = Math.max(box.top, clip.top, seen.top)
      const bottom = Math.min(box.bottom, clip.bottom, seen.bottom)
      if (right - left > 1 && bottom - top > 1)
        texts.push({ left, right, top, bottom, element, text: node.data, sticky: clip.sticky, node })
    }
  }
  // Fields cut what is in them; a title gives the whole. The browser reports no overflow of a placeholder or of a selected option.
  const brush = document.createElement('canvas').getContext('2d')
  for (const field of document.querySelectorAll('input, select')) {
    if (isHidden(field) || /^(range|checkbox|radio|file|color)$/.test(field.type)) continue
    const style = getComputedStyle(field)
    brush.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`
    const text =
      field instanceof HTMLSelectElement ? (field.selectedOptions[0]?.textContent ?? '').trim() : field.value || field.placeholder
    // The arrow of a list that the browser draws.
    const arrow = field instanceof HTMLSelectElement && style.appearance !== 'none' ? 16 : 0
    const room = field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - arrow
    const over = Math.max(
      brush.measureText(text).width - room,
      field instanceof HTMLInputElement && field.value ? field.scrollWidth - field.clientWidth : 0,
    )
    if (over > 1.5 && !isTitled(field, text)) wrong.push(`cut: ${where(field)} ${quote(text)} by ${Math.round(over)} px`)
  }
  // Pairs on one place: by a sweep from top to bottom. What is open above the rest, or sticks while the rest scrolls, covers on purpose.
  texts.sort((one, other) => one.top - other.top)
  let active = []
  for (const one of texts) {
    active = active.filter((other) => other.bottom > one.top + 1)
    for (const other of active) {
      if (one.node === other.node) continue
      const width = Math.min(one.right, other.right) - Math.max(one.left, other.left)
      const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top)
      const least = Math.min(one.bottom - one.top, other.bottom - other.top)
      if (width <= 2 || height <= least * 0.4) continue
      if (one.sticky !== other.sticky || one.element.closest(layer) !== other.element.closest(layer)) continue
      wrong.push(
        `over: ${where(one.element)} ${quote(one.text)} and ${where(other.element)} ${quote(other.text)} by ${Math.round(width)} px`,
      )
    }
    active.push(one)
  }
  return [...new Set(wrong)]
}
