import { useEffect, useState } from 'preact/hooks'

/** The page's places, as the part of its address after `#/`. */
export const ROUTES = ['desk', 'institution', 'operator'] as const
export type Route = (typeof ROUTES)[number]

/** The place that the address names; the desk when it names none. */
export function routeOf(hash: string): Route {
  return ROUTES.find((route) => hash === `#/${route}`) ?? 'desk'
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => routeOf(location.hash))
  useEffect(() => {
    const listen = () => setRoute(routeOf(location.hash))
    window.addEventListener('hashchange', listen)
    return () => window.removeEventListener('hashchange', listen)
  }, [])
  return route
}
