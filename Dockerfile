# docker build -t uanet_tf . && docker run --rm -it uanet_tf
FROM python:3.11-slim

RUN apt-get update \
    && apt-get install --yes --no-install-recommends make \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /uanet_tf

# The environment first: it is built anew only when the requirements change.
COPY Makefile requirements.txt requirements-dev.txt requirements.lock ./
COPY tools tools
RUN PIP_NO_CACHE_DIR=1 make venv

COPY . .
RUN make venv

CMD ["make", "demo"]
