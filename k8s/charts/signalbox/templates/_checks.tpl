{{/* What a schema cannot tell. Every problem is told at once, each with the key to change. */}}

{{- define "signalbox.check" -}}
{{- include "signalbox.checkOwners" . -}}
{{- range $name, $deployment := .plan.deployments -}}
  {{- include "signalbox.checkDeployment" (dict "root" $.root "plan" $.plan "name" $name "deployment" $deployment) -}}
{{- end -}}
{{- include "signalbox.checkEnv" (dict "root" .root "plan" .plan "at" "defaults" "env" .root.Values.defaults.extraEnv) -}}
{{- include "signalbox.checkPod" (dict "plan" .plan "at" "defaults" "pod" .root.Values.defaults) -}}
{{- include "signalbox.checkResources" (dict "plan" .plan "at" "migrations" "resources" .root.Values.migrations.resources) -}}
{{- include "signalbox.checkVariables" . -}}
{{- include "signalbox.checkMetadata" . -}}
{{- include "signalbox.checkNames" . -}}
{{- include "signalbox.checkSpool" . -}}
{{- include "signalbox.checkUrls" . -}}
{{- include "signalbox.checkEffect" . -}}
{{- include "signalbox.checkService" . -}}
{{- include "signalbox.checkScrapes" . -}}
{{- include "signalbox.checkNats" . -}}
{{- include "signalbox.checkConfig" . -}}
{{- include "signalbox.checkSecrets" . -}}
{{- include "signalbox.checkTls" . -}}
{{- with .root.Values.image -}}
  {{- if and (eq .tag "latest") (not .digest) -}}
    {{- include "signalbox.refuse" (list $.plan "image.tag: `latest` may be another program tomorrow; name a version, or image.digest") -}}
  {{- end -}}
{{- end -}}
{{- with .plan.problems -}}
  {{- fail (printf "\n\nThese values cannot work:\n\n  - %s\n" (uniq . | join "\n  - ")) -}}
{{- end -}}
{{- end -}}

{{/* Keeps a problem: (list PLAN TEXT). */}}
{{- define "signalbox.refuse" -}}
{{- $plan := first . -}}
{{- $_ := set $plan "problems" (append $plan.problems (last .)) -}}
{{- end -}}

{{/* Of one deployment: (dict "plan" PLAN "name" NAME "roles" LIST). */}}
{{- define "signalbox.checkRoles" -}}
{{- $key := printf "deployments.%s.roles" .name -}}
{{- if not .roles -}}
  {{- include "signalbox.refuse" (list .plan (printf "%s: name at least one of router, adapter, ingest, budget, cache and batch" $key)) -}}
{{- end -}}
{{- range .roles -}}
  {{- with get $.plan.owners . -}}
    {{- include "signalbox.refuse" (list $.plan (printf "%s: deployments.%s.roles has one of %s already, and a role is in one deployment only" $key . (join ", " $.roles))) -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/* Who is missing, or where nobody can reach it. Without the role batch there is no batch lane, and that is all. */}}
{{- define "signalbox.checkOwners" -}}
{{- $owners := .plan.owners -}}
{{- $cache := include "signalbox.section" (list .root "cache") | fromJson -}}
{{- $cached := include "signalbox.caches" .root -}}
{{- range list "router" "adapter" "ingest" "budget" "cache" -}}
  {{- if and (not (hasKey $owners .)) (or $cached (ne . "cache")) -}}
    {{- $hint := ternary ", or set config.cache.enabled to false" "" (eq . "cache") -}}
    {{- include "signalbox.refuse" (list $.plan (printf "deployments: none has the role %s; add it to the roles of one%s" . $hint)) -}}
  {{- end -}}
{{- end -}}
{{- $models := or (ne (dig "embedder" "builtin" $cache) "builtin") $cache.verifier -}}
{{- if and $cached $models $owners.cache $owners.adapter -}}
  {{- if and (ne $owners.cache $owners.adapter) (eq $owners.adapter (get $owners "router")) -}}
    {{- include "signalbox.refuse" (list .plan (printf "deployments.%s.roles: an adapter beside a router serves that router alone, and the cache needs one for config.cache.embedder and verifier; give the adapter a deployment of its own, or put the cache beside it" $owners.adapter)) -}}
  {{- end -}}
{{- end -}}
{{- if and $owners.batch $owners.adapter (ne $owners.batch $owners.adapter) (eq $owners.adapter (get $owners "router")) -}}
  {{- include "signalbox.refuse" (list .plan (printf "deployments.%s.roles: an adapter beside a router serves that router alone, and batch needs one; add batch to deployments.%s.roles in place of deployments.%s, give the adapter a deployment of its own, or do without batch" $owners.adapter $owners.adapter $owners.batch)) -}}
{{- end -}}
{{- end -}}

{{/* (dict "root" $ "plan" PLAN "name" NAME "deployment" VALUES) */}}
{{- define "signalbox.checkDeployment" -}}
{{- $key := printf "deployments.%s" .name -}}
{{- with .deployment -}}
  {{- if and .embedded .several -}}
    {{- $what := ternary "hpa.enabled" "replicas" .hpa.enabled -}}
    {{- $urls := join " and " .embedded -}}
    {{- include "signalbox.refuse" (list $.plan (printf "%s.%s: without %s what it keeps is in a file, which one pod alone can have; set replicas to 1 and hpa.enabled to false, or give %s" $key $what $urls $urls)) -}}
  {{- end -}}
  {{- if and .embedded (not $.root.Values.spool.persistence.enabled) (gt (len $.plan.deployments) 1) -}}
    {{- $urls := join " and " .embedded -}}
    {{- include "signalbox.refuse" (list $.plan (printf "%s: without %s what it keeps is in a file, which each upgrade would take away with its pod; give %s, or set spool.persistence.enabled (only a single deployment of all roles, to try things out, does without)" $key $urls $urls)) -}}
  {{- end -}}
  {{- if and (not (include "signalbox.caches" $.root)) (eq (join "," .roles) "cache") -}}
    {{- include "signalbox.refuse" (list $.plan (printf "%s.enabled: set it to false, since config.cache.enabled switches off all that it would do" $key)) -}}
  {{- end -}}
{{- end -}}
{{- include "signalbox.checkScaling" . -}}
{{- include "signalbox.checkResources" (dict "plan" .plan "at" $key "resources" .deployment.resources) -}}
{{- include "signalbox.checkEnv" (dict "root" .root "plan" .plan "at" $key "env" .deployment.extraEnv) -}}
{{- include "signalbox.checkPod" (dict "plan" .plan "at" $key "pod" .deployment) -}}
{{- if gt (len .name) 15 -}}
  {{- include "signalbox.refuse" (list .plan (printf "%s: its name has %d characters, and objects that are named after it have room for 15" $key (len .name))) -}}
{{- end -}}
{{- end -}}

{{/* A Service's name begins with a letter. */}}
{{- define "signalbox.checkNames" -}}
{{- $fullname := include "signalbox.fullname" .root -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $fullname) -}}
  {{- include "signalbox.refuse" (list .plan (printf "fullnameOverride: objects would be named after `%s`, and Services need a letter first, then small letters, digits and `-`; give another name" $fullname)) -}}
{{- end -}}
{{- end -}}

{{/* Who is let in from outside, where a Service opens a way. */}}
{{- define "signalbox.checkService" -}}
{{- $values := .root.Values -}}
{{- $outside := false -}}
{{- range $values.networkPolicy.clients }}{{ if .ipBlock }}{{ $outside = true }}{{ end }}{{ end -}}
{{- if and (ne $values.service.type "ClusterIP") $values.networkPolicy.enabled (not $outside) -}}
  {{- include "signalbox.refuse" (list .plan (printf "networkPolicy.clients: names pods alone, so that nobody outside of the cluster gets in by service.type %s; add an ipBlock, as in {ipBlock: {cidr: 10.0.0.0/8}}" $values.service.type)) -}}
{{- end -}}
{{- end -}}

{{/* Prometheus' operator refuses a scrape that would last into the next. */}}
{{- define "signalbox.checkScrapes" -}}
{{- with .root.Values.serviceMonitor -}}
  {{- if and .enabled (gt (include "signalbox.millis" .scrapeTimeout | int64) (include "signalbox.millis" .interval | int64)) -}}
    {{- include "signalbox.refuse" (list $.plan "serviceMonitor.scrapeTimeout: is longer than serviceMonitor.interval") -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{- define "signalbox.checkNats" -}}
{{- $nats := .root.Values.nats -}}
{{- $apart := false -}}
{{- range .plan.deployments -}}
  {{- $roles := .roles | default list -}}
  {{- if ne (or (has "router" $roles) (has "adapter" $roles) (has "batch" $roles)) (has "ingest" $roles) }}{{ $apart = true }}{{ end -}}
{{- end -}}
{{- if and $apart (not $nats.servers) -}}
  {{- include "signalbox.refuse" (list .plan (printf "nats.servers: is needed, since accounts travel from the roles router, adapter and batch to ingesters in other pods (deployments.%s)" (keys .plan.deployments | sortAlpha | join ", "))) -}}
{{- end -}}
{{- if and $nats.password.existingSecret.name (not $nats.user) -}}
  {{- include "signalbox.refuse" (list .plan "nats.user: is needed with nats.password.existingSecret.name") -}}
{{- end -}}
{{- if and $nats.credentials.existingSecret.name $nats.user -}}
  {{- include "signalbox.refuse" (list .plan "nats.user: give either a user or nats.credentials.existingSecret.name, not both") -}}
{{- end -}}
{{- end -}}

{{/* What the chart writes itself is not given in `config`. */}}
{{- define "signalbox.checkConfig" -}}
{{- $config := .root.Values.config | default dict -}}
{{- $owned := dict
  "server" "server, service and shutdown.longestStreamSeconds"
  "peers" "deployments"
  "mtls" "mtls"
  "nats" "nats"
  "redis" "redis"
  "telemetry" "telemetry"
  "budgets.store" "postgresql"
  "batch.store" "batch.postgresql and postgresql"
  "usage.store" "clickhouse and sqlite"
  "usage.spool" "spool"
  "cache.store" "cache.redis and cache.memory"
  "cache.secret" "cacheSecret.existingSecret" -}}
{{- range $path, $instead := $owned -}}
  {{- $steps := splitList "." $path -}}
  {{- $parent := $config -}}
  {{- range initial $steps }}{{ $parent = get $parent . }}{{ end -}}
  {{- if and (kindIs "map" $parent) (hasKey ($parent | default dict) (last $steps)) -}}
    {{- include "signalbox.refuse" (list $.plan (printf "config.%s: is written by the chart; use the values %s in its place" $path $instead)) -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{- define "signalbox.checkTls" -}}
{{- $values := .root.Values -}}
{{- $issuer := $values.mtls.certManager.issuerRef.name -}}
{{- range $name, $deployment := .plan.deployments -}}
  {{- $key := printf "deployments.%s.mtls.existingSecret.name" $name -}}
  {{- $own := $deployment.mtls.existingSecret.name -}}
  {{- if and $values.mtls.enabled (not $issuer) (not $own) -}}
    {{- include "signalbox.refuse" (list $.plan (printf "%s: is needed with mtls.enabled; or give mtls.certManager.issuerRef.name for all deployments" $key)) -}}
  {{- end -}}
  {{- if and $own (not $values.mtls.enabled) -}}
    {{- include "signalbox.refuse" (list $.plan (printf "%s: has no effect without mtls.enabled" $key)) -}}
  {{- end -}}
{{- end -}}
{{- with $values.mtls.certManager -}}
  {{- $ours := or (not .issuerRef.group) (eq .issuerRef.group "cert-manager.io") -}}
  {{- if and $ours .issuerRef.kind (not (has .issuerRef.kind (list "Issuer" "ClusterIssuer"))) -}}
    {{- include "signalbox.refuse" (list $.plan "mtls.certManager.issuerRef.kind: cert-manager has Issuer and ClusterIssuer; give the group of another's") -}}
  {{- end -}}
  {{- if ge (include "signalbox.millis" .renewBefore | int64) (include "signalbox.millis" .duration | int64) -}}
    {{- include "signalbox.refuse" (list $.plan "mtls.certManager.renewBefore: is no shorter than mtls.certManager.duration, so a certificate would be renewed without end") -}}
  {{- end -}}
{{- end -}}
{{- if and $issuer (not $values.mtls.enabled) -}}
  {{- include "signalbox.refuse" (list .plan "mtls.certManager.issuerRef: has no effect without mtls.enabled") -}}
{{- end -}}
{{- if and $values.defaults.mtls.existingSecret.name (gt (len .plan.deployments) 1) -}}
  {{- include "signalbox.refuse" (list .plan "defaults.mtls.existingSecret.name: a certificate says which roles its process has, so each deployment has its own; give deployments.<name>.mtls.existingSecret.name") -}}
{{- end -}}
{{- if and $values.server.tls.existingSecret.name (not $values.mtls.enabled) (gt (len .plan.deployments) 1) -}}
  {{- include "signalbox.refuse" (list .plan "server.tls.existingSecret.name: roles call each other in the clear at the port that this encrypts; set mtls.enabled, too, or put all roles into one deployment") -}}
{{- end -}}
{{- end -}}
