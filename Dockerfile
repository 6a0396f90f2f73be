# The same Node that the project is developed on, pinned by the digest of its index of architectures.
ARG NODE=node:24.21.0-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20

FROM ${NODE} AS build
WORKDIR /app
ARG REVISION=""
COPY package.json package-lock.json ./
# The base brings Node; the install script of the npm package `node` would only fetch it again.
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY scripts scripts
COPY src src
RUN REVISION="$REVISION" npm run build

FROM ${NODE}
ENV NODE_ENV=production
WORKDIR /app
# It contains the code of its packages.
COPY --from=build /app/dist dist
COPY package.json config.example.yaml LICENSE ./
COPY docs docs
RUN install -d -o node -g node -m 0700 /var/lib/beaconchain-exporter && install -d /etc/beaconchain-exporter
# The name that the program has elsewhere too, for `docker exec`. The memory of the process holds the API key: no core
# files, and no signal that opens the debugger.
RUN printf '#!/bin/sh\nexec prlimit --core=0 node --disable-sigusr1 /app/dist/main.js "$@"\n' \
    > /usr/local/bin/beaconchain-exporter && chmod 755 /usr/local/bin/beaconchain-exporter
# By number, so that Kubernetes can see that it is not root.
USER 1000:1000
# The default of state.dir, and paths in flags and variables, are relative to the working directory.
WORKDIR /var/lib/beaconchain-exporter
VOLUME /var/lib/beaconchain-exporter
EXPOSE 10032
# Plain HTTP on the default port; with another port or TLS, give your own with --health-cmd.
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:10032/-/healthy').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# The program handles SIGTERM itself and starts no children, so it needs no init as PID 1.
ENTRYPOINT ["beaconchain-exporter"]
CMD ["serve"]
