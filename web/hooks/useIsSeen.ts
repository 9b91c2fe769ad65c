import { useEffect, useState } from 'preact/hooks'

/** Whether somebody may be looking at the page: it is in no other tab's shadow, and no locked phone's. */
export function useIsSeen(): boolean {
  const [isSeen, setSeen] = useState(!document.hidden)
  useEffect(() => {
    const listen = () => setSeen(!document.hidden)
    document.addEventListener('visibilitychange', listen)
    // Nobody listened between the rendering and now.
    listen()
    return () => document.removeEventListener('visibilitychange', listen)
  }, [])
  return isSeen
}
