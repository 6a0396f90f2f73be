# syntax=docker/dockerfile:1
FROM node:24.11-bookworm-slim AS build
WORKDIR /app
ARG REVISION=""
COPY package.json package-lock.json ./
# The base brings Node; the install script of the npm package `node` would only fetch it again.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY src src
RUN REVISION="$REVISION" npm run build

FROM node:24.11-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts && npm cache clean --force

FROM node:24.11-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json config.example.yaml ./
RUN install -d -o node -g node /var/lib/beaconchain-exporter /etc/beaconchain-exporter
USER node
# Relative paths of the configuration (the state directory, say) are relative to the working directory.
WORKDIR /var/lib/beaconchain-exporter
VOLUME /var/lib/beaconchain-exporter
EXPOSE 10032
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:10032/-/healthy').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# The program handles SIGTERM itself and starts no children, so it needs no init as PID 1.
ENTRYPOINT ["node", "/app/dist/main.js"]
CMD ["serve"]
