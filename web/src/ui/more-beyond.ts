// Marks a horizontally scrolling row with the edges that hide content (`data-more`: left, right, or both), for a fade style.
import { useEffect } from 'preact/hooks'

export function useMoreBeyond(of: { current: HTMLElement | null }): void {
  useEffect(() => {
    const row = of.current
    if (!row) return
    const look = () => {
      const more = [row.scrollLeft > 4 && 'left', row.scrollLeft + row.clientWidth < row.scrollWidth - 4 && 'right']
        .filter(Boolean)
        .join(' ')
      if (more) row.dataset.more = more
      else delete row.dataset.more
    }
    // The open item stays visible when the row becomes narrower.
    const resized = () => {
      const open = row.querySelector<HTMLElement>('[aria-current=page], [aria-selected=true]')
      if (open && (open.offsetLeft < row.scrollLeft || open.offsetLeft + open.offsetWidth > row.scrollLeft + row.clientWidth))
        row.scrollLeft = open.offsetLeft - (row.clientWidth - open.offsetWidth) / 2
      look()
    }
    const observer = new ResizeObserver(resized)
    observer.observe(row)
    row.addEventListener('scroll', look, { passive: true })
    look()
    return () => {
      observer.disconnect()
      row.removeEventListener('scroll', look)
    }
  }, [])
}
