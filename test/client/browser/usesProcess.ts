// The bundling test must find this mention of a Node global.
export const platform = process.platform
