/** Every metric of ours begins so; the process's own are named as Prometheus' clients agree on. */
export const PREFIX = 'trading_'
