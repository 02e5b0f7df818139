// Small elements used by several desks.
import type { ComponentChildren } from 'preact'

/** A name with its colour. */
export function Swatched({ colour, children }: { colour: string; children: ComponentChildren }) {
  return (
    <span class="swatched">
      <span class="swatch" style={{ background: colour }} />
      {children}
    </span>
  )
}

/** A share as a number with a bar. */
export function ShareBar({ share, colour = 'var(--accent)', title }: { share: number; colour?: string; title?: string }) {
  return (
    <span class="spent-bar" title={title} aria-hidden="true">
      <span style={{ width: `${Math.min(1, share) * 100}%`, background: colour }} />
    </span>
  )
}
