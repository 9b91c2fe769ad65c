import { getFigure } from './support/route.js'

export const health = getFigure({
  name: 'health',
  title: 'GET /health',
  route: '/health',
  goal: 0.8,
  notes: ['from memory: neither chain nor broker is asked'],
  paths: () => ['/health'],
})
