// A value delayed by one frame, so that important content is painted before large content.
import { useEffect, useRef, useState } from 'preact/hooks'

/** Value of the previous frame; the first one is immediate. Of several within a frame, only the newest is used. */
export function useLater<T>(value: T): T {
  const [shown, setShown] = useState(value)
  const newest = useRef(value)
  newest.current = value
  useEffect(() => {
    if (shown === value) return
    let timer: ReturnType<typeof setTimeout> | undefined
    // After the frame that paints the important content.
    const frame = requestAnimationFrame(() => (timer = setTimeout(() => setShown(() => newest.current))))
    return () => {
      cancelAnimationFrame(frame)
      clearTimeout(timer)
    }
  }, [value])
  return shown
}
