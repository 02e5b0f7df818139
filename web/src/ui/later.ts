// A value that follows one frame behind: what is looked at first is painted first, what is large comes next.
import { useEffect, useRef, useState } from 'preact/hooks'

/** The value as it was one frame ago; the first one at once. Of several within a frame only the newest arrives. */
export function useLater<T>(value: T): T {
  const [shown, setShown] = useState(value)
  const newest = useRef(value)
  newest.current = value
  useEffect(() => {
    if (shown === value) return
    let timer: ReturnType<typeof setTimeout> | undefined
    // After the frame that paints what came first.
    const frame = requestAnimationFrame(() => (timer = setTimeout(() => setShown(() => newest.current))))
    return () => {
      cancelAnimationFrame(frame)
      clearTimeout(timer)
    }
  }, [value])
  return shown
}
