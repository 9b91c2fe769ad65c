import { getFigure } from './support/route.js'

export const market = getFigure({
  name: 'market',
  title: 'GET /market',
  route: '/market',
  goal: 0.8,
  notes: ['one answer of the broker serves all requests of two seconds (MARKET_MAX_AGE)'],
  paths: () => ['/market'],
})
