import { getFigure } from './support/route.js'

export const wallet = getFigure({
  name: 'wallet',
  title: 'GET /wallet/:address',
  route: '/wallet/:address',
  goal: null,
  notes: ['each request reads the latest block of the local chain: five calls in one batch'],
  paths: ({ sandbox }) => sandbox.accounts.employees.map(({ address }) => `/wallet/${address}`),
})
