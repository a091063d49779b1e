# Builds an image that runs the demo:
#   docker build -t teamworld . && docker run --rm -v "$PWD/runs:/home/team/runs" teamworld
# and any other command:
#   docker run --rm -v "$PWD/runs:/home/team/runs" teamworld run household --method coela --out runs/first
FROM python:3.13-slim

RUN useradd --create-home team
WORKDIR /home/team
COPY pyproject.toml README.md LICENSE /src/
COPY src /src/src
RUN pip install --no-cache-dir "/src[plots,tables]"
USER team

ENTRYPOINT ["teamworld"]
CMD ["run", "cube", "--method", "zero_shot,drwell", "--level", "paper-n2", "--episodes", "10", "--seeds", "5", "--out", "runs/demo", "--figures"]
